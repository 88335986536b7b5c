/** Finds a working ripgrep: the npm package's binary, else `rg` on the PATH. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

export interface Ripgrep {
  readonly path: string;
  /** Such as `15.0.0`. */
  readonly version: string;
}

/** `off` forces the JavaScript engine; a path names the program to use. */
export const RIPGREP_VARIABLE = 'SKEIN_RIPGREP';

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 10_000;

/** Returns undefined if no ripgrep starts. Searches then use the JavaScript engine. */
export const findRipgrep = async (environment: Environment): Promise<Ripgrep | undefined> => {
  const choice = environment[RIPGREP_VARIABLE] ?? '';
  if (choice === 'off') return undefined;
  const candidates = choice === '' ? [installedBinary(), 'rg'] : [choice];
  for (const path of candidates) {
    const version = path === undefined ? undefined : await versionOf(path, environment);
    if (path !== undefined && version !== undefined) return { path, version };
  }
  return undefined;
};

/**
 * Resolves the binary of the platform's package. Resolved at run time, because the bundled package could not find
 * its binary.
 */
const installedBinary = (): string | undefined => {
  const { platform, arch } = process;
  const binary = platform === 'win32' ? 'rg.exe' : 'rg';
  try {
    const packagePath = createRequire(import.meta.url).resolve('@vscode/ripgrep');
    return createRequire(packagePath).resolve(`@vscode/ripgrep-${platform}-${arch}/bin/${binary}`);
  } catch {
    return undefined;
  }
};

const versionOf = async (path: string, environment: Environment): Promise<string | undefined> => {
  try {
    const { stdout } = await promisify(execFile)(path, ['--no-config', '--version'], {
      env: { PATH: environment.PATH },
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    return /^ripgrep (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
};
