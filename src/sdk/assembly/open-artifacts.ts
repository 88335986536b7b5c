/** Stores large outputs of a run as artifacts, and reads artifacts that other machines wrote. */
import { createHash } from 'node:crypto';
import { parse } from 'node:path';
import { artifactWorkspace } from '../../host/files/artifact-workspace.js';
import { openArtifactFile } from '../../host/files/open-artifact-file.js';
import { sharedArtifact } from '../../host/files/shared-artifact.js';
import { limitConcurrency } from '../../lib/async/limit-concurrency.js';
import { type ArtifactFolder, findArtifact } from '../../policy/paths/artifact-path.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import type { Outages, SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { Artifact } from '../../protocol/tools/artifact.js';
import type { Workspace } from '../../protocol/tools/workspace.js';
import type { OpenedStore } from './options/open-store.js';

interface OpenedArtifacts {
  readonly openArtifact: (name: string) => Artifact;
  readonly workspace: Workspace;
  /** Folders that the policy lets agents read, and the local path of another machine's artifact. */
  readonly policyFolders: {
    readonly artifacts: readonly string[];
    readonly localCopyOf?: (path: string) => string | undefined;
  };
}

export const openArtifacts = async (
  { sessions, owner }: Pick<OpenedStore, 'sessions' | 'owner'>,
  session: Pick<OwnedSession, 'meta' | 'artifactDirectory' | 'putArtifact'>,
  disk: Workspace,
  notify: (sentence: string) => void,
): Promise<OpenedArtifacts> => {
  const { meta } = session;
  const artifacts = session.artifactDirectory();
  const folders: readonly ArtifactFolder[] = [
    { session: meta.id, folder: artifacts },
    ...(await inheritedFolders(sessions, meta)),
  ];
  const policyFolders = { artifacts: folders.map(({ folder }) => folder) };
  // Artifact names contain call ids from the server, so unsafe characters are replaced.
  const open = (name: string) => openArtifactFile(artifacts, name.replaceAll(/[^\w.-]/g, '_'));
  if (sessions.jobs.local !== undefined) {
    return { openArtifact: open, workspace: disk, policyFolders };
  }
  const localCopyOf = (path: string) => findArtifact(folders, path)?.path;
  // One upload at a time, so that at most one large output is in memory.
  const upload = limitConcurrency(1);
  const ownerDigest = createHash('sha256').update(owner).digest('hex').slice(0, 6);
  const options = {
    put: (name: string, bytes: Uint8Array) => session.putArtifact(name, bytes),
    notify: (sentence: string) => notify(`A large output: ${sentence}`),
    untilAway: () => untilAway(sessions.outages),
  };
  return {
    openArtifact: (name) => sharedArtifact(open(withSuffix(name, ownerDigest)), upload, options),
    workspace: artifactWorkspace(disk, {
      localPathOf: localCopyOf,
      async fetch(path) {
        const found = findArtifact(folders, path);
        if (found === undefined) throw new UsageError(`${path} is not an output of this session.`);
        return sessions.readArtifact(found.session, found.name);
      },
    }),
    policyFolders: { ...policyFolders, localCopyOf },
  };
};

/** Returns the folders of the sessions that this session was forked from: its history names files there. */
const inheritedFolders = async (
  sessions: Pick<SessionStore, 'list' | 'artifactsOf'>,
  { parentId }: SessionMeta,
): Promise<readonly ArtifactFolder[]> => {
  if (parentId === null) return [];
  const parents = new Map((await sessions.list()).map((meta) => [meta.id, meta.parentId]));
  // Parent ids come from disk and may form a cycle.
  const found = new Set<string>();
  for (let id: string | null = parentId; id !== null && !found.has(id); ) {
    found.add(id);
    id = parents.get(id) ?? null;
  }
  return [...found].flatMap((session) => {
    const folder = sessions.artifactsOf(session);
    return folder === undefined ? [] : [{ session, folder }];
  });
};

/** Adds the process to the name, because calls of two processes may have the same id. */
const withSuffix = (name: string, suffix: string): string => {
  const { name: stem, ext } = parse(name);
  return `${stem}.${suffix}${ext}`;
};

/** Resolves `away` when the store becomes unreachable. `end` stops waiting. */
const untilAway = (outages: Outages | undefined) => {
  let end = () => {};
  const away = new Promise<void>((resolve) => {
    if (outages?.outage !== undefined) return resolve();
    const stop = outages?.listen((outage) => outage !== undefined && resolve());
    if (stop !== undefined) end = stop;
  });
  return { away, end: () => end() };
};
