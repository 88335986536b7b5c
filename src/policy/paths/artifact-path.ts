/**
 * Maps paths of a session's artifacts (large tool outputs) to this machine.
 *
 * An agent on another machine names an artifact by its path there. The artifact itself is stored here, in the
 * artifact folder of the session.
 */
import { join } from 'node:path';

/** Folder on this machine that holds the artifacts of a session. */
export interface ArtifactFolder {
  readonly session: string;
  readonly folder: string;
}

export interface ArtifactPath extends ArtifactFolder {
  readonly name: string;
  readonly path: string;
}

/** Only plain file names match, because artifacts have no others. */
const ARTIFACT = /\/sessions\/([^/]+)\/artifacts\/([A-Za-z0-9_][\w.-]{0,199})$/;

/** Finds the artifact for an absolute path of any machine. Returns undefined if it is no artifact of these sessions. */
export const findArtifact = (
  folders: readonly ArtifactFolder[],
  path: string,
): ArtifactPath | undefined => {
  const [, session, name] = ARTIFACT.exec(path) ?? [];
  const found = folders.find((folder) => folder.session === session);
  return found === undefined || name === undefined
    ? undefined
    : { ...found, name, path: join(found.folder, name) };
};
