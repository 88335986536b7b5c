/**
 * Runs a command hook in the shell: own process group under the watchdog, JSON input, no secrets.
 * The hook ends soon after its time-out, and its output is limited.
 */
import { stat } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { HookEnd, RunHookCommand } from '../../protocol/permission/hook-setup.js';
import type { Shell } from '../../protocol/tools/shell.js';

/** Limit per stream. Further output is read and dropped, so that the hook does not block. */
export const MAX_HOOK_OUTPUT_BYTES = 1024 * 1024;

export const commandHookRunner =
  (shell: Shell, projectDirectory: string): RunHookCommand =>
  async ({ command, cwd, input, timeoutMs, signal }): Promise<HookEnd> => {
    const stdout = new BoundedText();
    const stderr = new BoundedText();
    try {
      const directory = await firstExisting(cwd, projectDirectory);
      const end = await shell.run({
        command,
        cwd: directory,
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

/** Returns the first existing folder, because an agent that deletes its working directory must not disable hooks. */
const firstExisting = async (...folders: readonly string[]): Promise<string> => {
  for (const folder of folders) {
    const stats = await stat(folder).catch(() => undefined);
    if (stats?.isDirectory() === true) return folder;
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

  /** Returns the text, with U+FFFD for invalid bytes. */
  text(): string {
    return (this.parts.join('') + this.decoder.end()).toWellFormed();
  }
}
