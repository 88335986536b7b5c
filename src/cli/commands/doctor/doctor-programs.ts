/** The checks of programs: Node itself, and those that Skein starts. */
import { ownerMarker } from '../../../host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../host/process/ownership/watchdog-link.js';
import { sandboxTrouble } from '../../../host/process/sandbox.js';
import { findShell } from '../../../host/process/shell-script.js';
import { findRipgrep } from '../../../host/search/ripgrep.js';
import { randomIds } from '../../../protocol/ids.js';
import { type Check, type Finding, type Probe, probe } from './doctor-check.js';

const FLOOR = { major: 20, minor: 19 };

export const nodeFinding = (version: string): Finding => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isEnough = major > FLOOR.major || (major === FLOOR.major && minor >= FLOOR.minor);
  return isEnough
    ? { status: 'ok', found: version }
    : {
        status: 'fail',
        found: `${version} is too old`,
        fix: 'Install Node 20.19 or newer, from nodejs.org or with your version manager.',
      };
};

const checkNode: Check = { name: 'node', run: () => nodeFinding(process.version) };

const checkGit: Check = {
  name: 'git',
  run: async (machine, signal) =>
    judged(await probe(['git', '--version'], machine, signal), {
      status: 'warn',
      found: 'not on the PATH',
      fix: 'Install git; without it agents cannot see or keep the history of a project.',
    }),
};

const checkRipgrep: Check = {
  name: 'ripgrep',
  async run({ env }) {
    const found = await findRipgrep(env);
    if (found !== undefined) return { status: 'ok', found: `${found.version} at ${found.path}` };
    const fix = 'Install ripgrep (rg) if agents are to search large projects quickly.';
    return { status: 'note', found: 'none that runs: searches use the slower built-in one', fix };
  },
};

const checkShell: Check = {
  name: 'shell',
  async run(machine, signal) {
    const { path } = findShell();
    const found = await probe([path, '-c', 'echo "$BASH_VERSION"'], machine, signal);
    if (found.kind !== 'ran') {
      const fix = 'Install bash as /bin/bash; the Bash tool cannot work without a shell.';
      return { status: 'fail', found: `${path} ${why(found)}`, fix };
    }
    if (found.output !== '') return { status: 'ok', found: `${path} ${found.output}` };
    return {
      status: 'warn',
      found: `${path}, which is not bash`,
      fix: 'Install bash as /bin/bash: models write commands for it.',
    };
  },
};

const checkWatchdog: Check = {
  name: 'watchdog',
  async run({ watchdog }) {
    const marker = ownerMarker(randomIds('owner'));
    await watchdogLink({ command: watchdog, marker }).ready();
    return { status: 'ok', found: 'starts; no child outlives its owner' };
  },
};

const checkBubblewrap: Check = {
  name: 'bubblewrap',
  async run(machine, signal) {
    const version = await probe(['bwrap', '--version'], machine, signal);
    const trouble = await sandboxTrouble(machine.env);
    if (version.kind === 'ran' && trouble === undefined) {
      return { status: 'ok', found: `${version.output}; SKEIN_SANDBOX=auto puts commands in it` };
    }
    const fix = 'Install bubblewrap and allow user namespaces if commands are to run in a sandbox.';
    return { status: 'note', found: `no sandbox: ${trouble ?? why(version)}`, fix };
  },
};

const judged = (found: Probe, missing: Finding): Finding => {
  if (found.kind === 'ran') return { status: 'ok', found: found.output.split('\n')[0] ?? '' };
  return found.kind === 'missing' ? missing : { ...missing, found: why(found) };
};

const why = (found: Probe): string =>
  found.kind === 'failed' ? `does not work: ${found.reason}` : 'is missing';

export const PROGRAM_CHECKS: readonly Check[] = [
  checkNode,
  checkGit,
  checkRipgrep,
  checkShell,
  checkWatchdog,
  checkBubblewrap,
];
