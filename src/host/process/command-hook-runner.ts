/**
 * Runs one command hook in the shell: its own process group under the watchdog, JSON as its input, no
 * secrets. Whatever it does, it is over soon after its time, and only so much of its output is read.
 */
import { stat } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { HookEnd, RunHookCommand } from '../../protocol/permission/hook-setup.js';
import type { Shell } from '../../protocol/tools/shell.js';

/** Of each stream; what follows is read and dropped, so that the hook can go on. */
export const MAX_HOOK_OUTPUT_BYTES = 1024 * 1024;

export const commandHookRunner =
  (shell: Shell, projectDirectory: string): RunHookCommand =>
  async ({ command, cwd, input, timeoutMs, signal }): Promise<HookEnd> => {
    const stdout = new BoundedText();
    const stderr = new BoundedText();
    try {
      const place = await firstExisting(cwd, projectDirectory);
      const end = await shell.run({
        command,
        cwd: place,
        input,
        timeoutMs,
        signal,
        env: { CLAUDE_PROJECT_DIR: projectDirectory, SKEIN_PROJECT_DIR: projectDirectory },
        onOutput: (stream, chunk) => (stream === 'stdout' ? stdout : stderr).add(chunk),
      });
      if (end.reason === 'aborted') return { kind: 'aborted' };
      if (end.reason === 'timeout') return { kind: 'timeout', timeoutMs };
      if (end.exitCode === null) {
        return { kind: 'failed', why: `it was ended by ${end.signal ?? 'a signal'}` };
      }
      return {
        kind: 'exited',
        exitCode: end.exitCode,
        isCut: stdout.isCut,
        stdout: stdout.text(),
        stderr: stderr.text(),
      };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { kind: 'failed', why: `it could not be started: ${why}` };
    }
  };

/** An agent that takes away the ground under its feet must not be rid of its hooks. */
const firstExisting = async (...places: readonly string[]): Promise<string> => {
  for (const place of places) {
    const found = await stat(place).catch(() => undefined);
    if (found?.isDirectory() === true) return place;
  }
  return '/';
};

class BoundedText {
  isCut = false;
  private readonly decoder = new StringDecoder('utf8');
  private readonly parts: string[] = [];
  private bytes = 0;

  add(chunk: Uint8Array): void {
    const room = MAX_HOOK_OUTPUT_BYTES - this.bytes;
    if (chunk.length > room) this.isCut = true;
    if (room <= 0) return;
    const kept = Buffer.from(chunk.subarray(0, room));
    this.bytes += kept.length;
    this.parts.push(this.decoder.write(kept));
  }

  /** Bytes that are no text become the sign that says so. */
  text(): string {
    return (this.parts.join('') + this.decoder.end()).toWellFormed();
  }
}
