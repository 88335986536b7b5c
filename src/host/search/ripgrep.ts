/** Finds a ripgrep that runs here: the one that npm brought, else one on the PATH. */
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

/** Undefined when there is none, or none that starts: searches then use the JavaScript engine. */
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
 * Each platform has a package of its own, and only the right one is installed. Found by its place on
 * the disk when it is first needed: bundled, the package could not find its binary any more.
 */
const installedBinary = (): string | undefined => {
  const { platform, arch } = process;
  const binary = platform === 'win32' ? 'rg.exe' : 'rg';
  try {
    const home = createRequire(import.meta.url).resolve('@vscode/ripgrep');
    return createRequire(home).resolve(`@vscode/ripgrep-${platform}-${arch}/bin/${binary}`);
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
