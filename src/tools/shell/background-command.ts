/** Starts a command that goes on while the agent does something else. */
import { JobRefusal } from '../../protocol/tools/shell-jobs.js';
import { type ToolContext, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';

export const startInBackground = async (
  command: string,
  timeoutMs: number | undefined,
  { cwd, jobs, signal, openArtifact }: ToolContext,
): Promise<ToolOutcome> => {
  const artifact = openArtifact('bash-output.txt');
  try {
    const { id } = await jobs.start({ command, cwd, timeoutMs, artifact, signal });
    return {
      content: `Started in the background as ${id}. TaskOutput shows what it prints, TaskStop ends it, and all that it prints is also in ${artifact.path}. You will be told when it ends.`,
      gist: 'Started in the background.',
      notes: [{ type: 'job.read', job: id, upTo: 0 }],
      facts: { task: id },
    };
  } catch (error) {
    if (error instanceof JobRefusal) throw new ToolFailure(error.message);
    throw error;
  }
};
