/** A file in a manifest: its state, and its line in the document. */
import type { FileState } from '../../protocol/session/checkpoints.js';

/** State of a file, with the git object that has its content if no blob has it. */
export interface KeptState {
  readonly state: FileState;
  readonly object?: string | undefined;
}

export type ManifestEntry =
  | readonly [path: string, kind: 'f' | 'l', mode: number, digest: string]
  | readonly [path: string, kind: 'f', mode: number, digest: string, object: string]
  | readonly [path: string, kind: 'd', mode: number]
  | readonly [path: string, kind: 'u', why: string];

export const manifestEntry = (path: string, { state, object }: KeptState): ManifestEntry => {
  switch (state.kind) {
    case 'file':
      return object === undefined
        ? [path, 'f', state.mode, state.digest]
        : [path, 'f', state.mode, state.digest, object];
    case 'link':
      return [path, 'l', state.mode, state.digest];
    case 'directory':
      return [path, 'd', state.mode];
    case 'unknown':
      return [path, 'u', state.why];
    case 'absent':
      return [path, 'u', 'it was not there'];
  }
};

export const keptState = (entry: ManifestEntry): KeptState => {
  switch (entry[1]) {
    case 'd':
      return { state: { kind: 'directory', mode: entry[2] } };
    case 'u':
      return { state: { kind: 'unknown', why: entry[2] } };
    default: {
      const kind = entry[1] === 'f' ? 'file' : 'link';
      return { state: { kind, mode: entry[2], digest: entry[3] }, object: entry[4] };
    }
  }
};
