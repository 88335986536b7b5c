/** Puts bytes at a path all or nothing: written beside it, synced, and moved over it. */
import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, link, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileError } from '../../protocol/tools/tool.js';
import { errorCode } from './file-errors.js';

/** With `mustBeNew` an existing file is left alone and the write fails as 'changed'. */
export const writeAtomically = async (
  path: string,
  bytes: Uint8Array,
  { mustBeNew }: { readonly mustBeNew: boolean },
): Promise<void> => {
  const directory = dirname(path);
  const old = await stat(path).catch(() => undefined);
  if (old !== undefined) await access(path, constants.W_OK);
  const temporary = join(directory, `.skein-${randomBytes(8).toString('hex')}.tmp`);
  try {
    await fill(temporary, bytes, old);
    if (mustBeNew) await moveToNew(temporary, path);
    else await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(directory);
};

const fill = async (temporary: string, bytes: Uint8Array, old: Stats | undefined) => {
  const handle = await open(temporary, 'wx');
  try {
    await handle.writeFile(bytes);
    if (old !== undefined) await resemble(handle, old);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Owner first, since changing it clears mode bits. Only root may, and nobody else needs to. */
const resemble = async (handle: FileHandle, old: Stats) => {
  const { uid, gid } = await handle.stat();
  if (uid !== old.uid || gid !== old.gid)
    await handle.chown(old.uid, old.gid).catch(() => undefined);
  await handle.chmod(old.mode & 0o7777);
};

/** A link fails where a rename would replace. Some file systems have no links: there, look first. */
const moveToNew = async (temporary: string, path: string) => {
  try {
    await link(temporary, path);
    await unlink(temporary);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EEXIST' && code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS')
      throw error;
    const taken = code === 'EEXIST' || (await stat(path).catch(() => undefined)) !== undefined;
    if (taken) throw new FileError('changed', path, { cause: error });
    await rename(temporary, path);
  }
};

/** Makes the new name durable too. Not every file system can; the bytes are safe either way. */
const syncDirectory = async (directory: string) => {
  const handle = await open(directory, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
};
