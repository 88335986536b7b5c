/** Files in the index of a git repository, as git lists them. */
import { join } from 'node:path';

export interface GitListing {
  /** Folder of the listed names. */
  readonly root: string;
  /** Output of `git ls-files -s -z`. */
  readonly bytes: Uint8Array;
}

/** Yields the absolute path and the object name of each regular file. Leaves out names that are not UTF-8. */
export function* trackedObjects({ root, bytes }: GitListing): Generator<[string, string]> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\0', at);
    const end = found === -1 ? text.length : found;
    const tab = text.indexOf('\t', at);
    // `<mode> <object> <stage>`, a tab, and the name.
    const isFile = text.startsWith('100644 ', at) || text.startsWith('100755 ', at);
    const name = text.slice(tab + 1, end);
    if (isFile && tab !== -1 && tab < end && !name.includes('\ufffd')) {
      yield [join(root, name), text.slice(at + 7, text.indexOf(' ', at + 7))];
    }
    at = end + 1;
  }
}
