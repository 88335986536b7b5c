/** Process table of this machine, searched by environment variable or by process group. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

interface MarkedProcess {
  readonly pid: number;
  readonly value: string;
}

/**
 * Returns the visible processes with the environment variable, except this process. A daemon that left its group
 * keeps its start environment. Zombies have none.
 */
const marked = async (variable: string): Promise<readonly MarkedProcess[]> => {
  const processes = await (process.platform === 'linux'
    ? markedInProc(variable)
    : markedInPs(variable));
  return processes.filter(({ pid }) => pid !== process.pid);
};

/** True if the group has a process that is not a zombie. */
const hasLivingMember = async (group: number): Promise<boolean> => {
  const states = await (process.platform === 'linux' ? statesInProc() : statesInPs());
  return states.some((entry) => entry.group === group && !/^[ZX]/.test(entry.state));
};

const pids = async () => (await readdir('/proc')).filter((name) => /^\d+$/.test(name));

const markedInProc = async (variable: string): Promise<readonly MarkedProcess[]> => {
  const prefix = `${variable}=`;
  const processes: MarkedProcess[] = [];
  for (const pid of await pids()) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    const entry = environment.split('\0').find((line) => line.startsWith(prefix));
    if (entry !== undefined)
      processes.push({ pid: Number(pid), value: entry.slice(prefix.length) });
  }
  return processes;
};

/** Parses state, parent and group after the last bracket, because the program name may contain brackets. */
const statesInProc = async () => {
  const states: { readonly group: number; readonly state: string }[] = [];
  for (const pid of await pids()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    states.push({ group: Number(group), state });
  }
  return states;
};

const ps = async (...args: readonly string[]) => {
  const options = { maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)('ps', args, options);
  return stdout.split('\n');
};

/** Parses `ps -E`, which prints the environment after the command, separated by blanks. Marker values have no blanks. */
const markedInPs = async (variable: string): Promise<readonly MarkedProcess[]> => {
  const pattern = new RegExp(`^\\s*(\\d+) .*\\s${variable}=(\\S+)`);
  return (await ps('-axEww', '-o', 'pid=,command=')).flatMap((line) => {
    const [, pid, value] = pattern.exec(line) ?? [];
    return pid === undefined || value === undefined ? [] : [{ pid: Number(pid), value }];
  });
};

const statesInPs = async () =>
  (await ps('-ax', '-o', 'pgid=,state=')).map((line) => {
    const [group, state = ''] = line.trim().split(/\s+/);
    return { group: Number(group), state };
  });

export const processTable = { marked, hasLivingMember };
