/** Where a run keeps large outputs, and how they are read: by this process, and by those of other machines. */
import { createHash } from 'node:crypto';
import { parse } from 'node:path';
import type { OpenedSession } from '../../actors/session/lead-session.js';
import { openArtifactFile } from '../../host/files/artifact-file.js';
import { artifactWorkspace } from '../../host/files/artifact-workspace.js';
import { sharedArtifact, takingTurns } from '../../host/files/shared-artifact.js';
import { type ArtifactFolder, artifactAt } from '../../policy/paths/artifact-paths.js';
import { UsageError } from '../../protocol/errors.js';
import type { Outages } from '../../protocol/session/store.js';
import type { Artifact, Workspace } from '../../protocol/tools/tool.js';
import type { OpenedStore } from './options/open-store.js';

export interface RunArtifacts {
  readonly openArtifact: (name: string) => Artifact;
  readonly workspace: Workspace;
  /** For the policy: folders that may be read, and where outputs of other machines are here. */
  readonly readable: {
    readonly artifacts: readonly string[];
    readonly keptAt?: (path: string) => string | undefined;
  };
}

export const runArtifacts = (
  { sessions, owner }: Pick<OpenedStore, 'sessions' | 'owner'>,
  { meta, artifacts, inherited, putArtifact }: OpenedSession,
  disk: Workspace,
  notify: (sentence: string) => void,
): RunArtifacts => {
  const folders: readonly ArtifactFolder[] = [
    { session: meta.id, folder: artifacts },
    ...inherited,
  ];
  const readable = { artifacts: folders.map(({ folder }) => folder) };
  // Ids come from the server, and names end up in a path.
  const open = (name: string) => openArtifactFile(artifacts, name.replaceAll(/[^\w.-]/g, '_'));
  if (sessions.jobs.own !== undefined) return { openArtifact: open, workspace: disk, readable };
  const keptAt = (path: string) => artifactAt(folders, path)?.path;
  const turn = takingTurns();
  const mark = createHash('sha256').update(owner).digest('hex').slice(0, 6);
  const terms = {
    put: putArtifact,
    complain: (sentence: string) => notify(`A large output: ${sentence}`),
    untilAway: () => untilAway(sessions.outages),
  };
  return {
    openArtifact: (name) => sharedArtifact(open(marked(name, mark)), turn, terms),
    workspace: artifactWorkspace(disk, {
      placeOf: keptAt,
      async fetch(path) {
        const place = artifactAt(folders, path);
        if (place === undefined) throw new UsageError(`${path} is no output of this session.`);
        return sessions.peekArtifact(place.session, place.name);
      },
    }),
    readable: { ...readable, keptAt },
  };
};

/** Two processes may have calls of one name. */
const marked = (name: string, mark: string): string => {
  const { name: stem, ext } = parse(name);
  return `${stem}.${mark}${ext}`;
};

const untilAway = (outages: Outages | undefined) => {
  let end = () => {};
  const away = new Promise<void>((resolve) => {
    if (outages?.trouble !== undefined) return resolve();
    const stop = outages?.listen((trouble) => trouble !== undefined && resolve());
    if (stop !== undefined) end = stop;
  });
  return { away, end: () => end() };
};
