/**
 * Large outputs of a session under the names that they have on another machine: what an agent wrote there is
 * told with a path of there, and is kept here in the folder that all outputs of the session are in.
 */
import { join } from 'node:path';

/** Where this machine keeps the outputs of a session. */
export interface ArtifactFolder {
  readonly session: string;
  readonly folder: string;
}

export interface ArtifactPlace extends ArtifactFolder {
  readonly name: string;
  readonly path: string;
}

/** Only plain names: nothing else is kept under such a path. */
const KEPT = /\/sessions\/([^/]+)\/artifacts\/([A-Za-z0-9_][\w.-]{0,199})$/;

/** Of an absolute path, whichever machine it is of; undefined when it is no output of these sessions. */
export const artifactAt = (
  folders: readonly ArtifactFolder[],
  path: string,
): ArtifactPlace | undefined => {
  const [, session, name] = KEPT.exec(path) ?? [];
  const found = folders.find((one) => one.session === session);
  return found === undefined || name === undefined
    ? undefined
    : { ...found, name, path: join(found.folder, name) };
};
