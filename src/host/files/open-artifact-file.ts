/**
 * Opens an artifact file: a large output stored on disk beside the session. Writes are synchronous,
 * because an in-memory queue would grow as fast as a command prints. A disk error is reported at
 * close.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join, parse } from 'node:path';
import { type Artifact, MAX_ARTIFACT_BYTES } from '../../protocol/tools/artifact.js';
import { errorCode, fileError } from './file-error.js';

const END_NOTE = Buffer.from('\n[The output went on, but this file is full.]\n');

/** Adds a number to `name` if it is taken. Drops output after `limit` bytes and appends a note. Never throws. */
export const openArtifactFile = (
  directory: string,
  name: string,
  limit: number = MAX_ARTIFACT_BYTES,
): Artifact => {
  const { path, fd, trouble: refusal } = create(directory, name);
  let trouble = refusal;
  let left = limit;
  const append = (bytes: Uint8Array) => {
    if (trouble !== undefined) return;
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    } catch (error) {
      trouble = error;
    }
  };
  return {
    path,
    write(chunk) {
      if (left < 0) return;
      append(chunk.subarray(0, left));
      left -= chunk.length;
      if (left < 0) append(END_NOTE);
    },
    async close() {
      if (fd !== -1) closeSync(fd);
      if (trouble !== undefined) throw fileError(trouble, path);
    },
  };
};

const create = (directory: string, name: string) => {
  const { name: stem, ext } = parse(name);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (let number = 1; ; number += 1) {
      const path = join(directory, number === 1 ? stem + ext : `${stem}-${number}${ext}`);
      try {
        return { path, fd: openSync(path, 'wx', 0o600), trouble: undefined };
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') throw error;
      }
    }
  } catch (error) {
    return { path: join(directory, name), fd: -1, trouble: error };
  }
};
