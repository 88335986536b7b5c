/**
 * Opens an artifact file: a large output stored on disk beside the session. Writes are synchronous,
 * because an in-memory queue would grow as fast as a command prints. A disk error is reported at
 * close.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join, parse } from 'node:path';
import { type Artifact, MAX_ARTIFACT_BYTES } from '../../protocol/tools/artifact.js';
import { errorCode, fileError } from './file-error.js';

const END_NOTE = Buffer.from('\n[The output continued, but this file is full.]\n');

/** Adds a number to `name` if it is taken. Drops output after `limit` bytes and appends a note. Never throws. */
export const openArtifactFile = (
  directory: string,
  name: string,
  limit: number = MAX_ARTIFACT_BYTES,
): Artifact => {
  const { path, fd, error: openError } = createFile(directory, name);
  let failure = openError;
  let bytesLeft = limit;
  const append = (bytes: Uint8Array) => {
    if (failure !== undefined) return;
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    } catch (error) {
      failure = error;
    }
  };
  return {
    path,
    write(chunk) {
      if (bytesLeft < 0) return;
      append(chunk.subarray(0, bytesLeft));
      bytesLeft -= chunk.length;
      if (bytesLeft < 0) append(END_NOTE);
    },
    async close() {
      if (fd !== -1) closeSync(fd);
      if (failure !== undefined) throw fileError(failure, path);
    },
  };
};

const createFile = (directory: string, name: string) => {
  const { name: stem, ext } = parse(name);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (let number = 1; ; number += 1) {
      const path = join(directory, number === 1 ? stem + ext : `${stem}-${number}${ext}`);
      try {
        return { path, fd: openSync(path, 'wx', 0o600), error: undefined };
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') throw error;
      }
    }
  } catch (error) {
    return { path: join(directory, name), fd: -1, error };
  }
};
