/** Runs one call of a tool in the world it is given; whatever it throws becomes a result. */
import type { Feed } from '../protocol/feed.js';
import type { Jobs } from '../protocol/jobs.js';
import {
  type Artifact,
  type Shell,
  ToolFailure,
  type ToolOutcome,
  type Workspace,
} from '../protocol/tool.js';
import { type ConsultDeps, consultFor } from './consultation.js';
import type { SoundCall } from './judge.js';

/** All that the tools of one agent may touch. */
export interface ToolWorld extends ConsultDeps {
  readonly workspace: Workspace;
  readonly shell: Shell;
  readonly openArtifact: (name: string) => Artifact;
  readonly jobs: Jobs;
  readonly feed: Feed;
}

/** `failed`: the call itself failed; a command that exits with 1 has not. */
export const runTool = async (
  { tool, input }: SoundCall,
  world: ToolWorld,
  id: string,
  signal: AbortSignal,
): Promise<ToolOutcome & { failed: boolean }> => {
  const { workspace, shell, openArtifact, feed } = world;
  const { history } = world.notebook;
  try {
    const outcome = await tool.call(input, {
      ...{ workspace, shell, signal, cwd: history.cwd },
      ...{ jobs: world.jobs, todos: history.todos },
      jobReadTo: (job) => history.jobs.get(job),
      readStamp: (path) => history.seen.get(path),
      openArtifact: (name) => openArtifact(`${id}-${name}`),
      consult: consultFor(world, id),
      progress: (note) => feed.emit({ type: 'tool.progress', call: id, note }),
    });
    return { ...outcome, failed: false };
  } catch (error) {
    if (error instanceof ToolFailure) return { content: error.message, failed: true };
    const message = error instanceof Error ? error.message : String(error);
    return { content: `${tool.name} failed unexpectedly: ${message}`, failed: true };
  }
};
