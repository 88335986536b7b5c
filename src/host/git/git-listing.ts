/** Files in the index of a git repository, as git lists them. */

export interface GitListing {
  /** Folder of the listed names. */
  readonly root: string;
  /** Output of `git ls-files -s -z`. */
  readonly bytes: Buffer;
}

/** A regular file in the index. */
export interface TrackedFile {
  /** Absolute path of its folder. */
  readonly folder: string;
  readonly name: string;
  /** Name of the git object. */
  readonly object: string;
}

/** Yields the regular files, mostly folder by folder. Leaves out names that are not UTF-8. */
export function* trackedFiles({ root, bytes }: GitListing): Generator<TrackedFile> {
  const text = bytes.toString();
  let [prefix, folder] = ['', root];
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\0', at);
    const end = found === -1 ? text.length : found;
    // `<mode> <object> <stage>`, a tab, and the name.
    const tab = text.indexOf('\t', at);
    const isFile = text.startsWith('100644 ', at) || text.startsWith('100755 ', at);
    if (isFile && tab !== -1 && tab < end) {
      const slash = text.lastIndexOf('/', end - 1);
      const above = slash > tab ? text.slice(tab + 1, slash) : '';
      if (above !== prefix) [prefix, folder] = [above, above === '' ? root : `${root}/${above}`];
      const name = text.slice(Math.max(tab, slash) + 1, end);
      const object = text.slice(at + 7, text.indexOf(' ', at + 7));
      if (!name.includes('\ufffd') && !above.includes('\ufffd')) yield { folder, name, object };
    }
    at = end + 1;
  }
}
