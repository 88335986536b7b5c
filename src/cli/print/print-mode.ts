/** Print mode (`skein -p`): prints one run, or runs driven by stdin, in one of three formats. */
import { randomUUID } from 'node:crypto';
import type { LeadSession } from '../../actors/session/lead-session.js';
import { lastAnswer } from '../../context/history/last-answer.js';
import { stops } from '../../machines/stops.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import { UsageError } from '../../protocol/skein-error.js';
import { initMessage } from '../../sdk/api/messages/init-message.js';
import { promptTitle, toWireBlocks } from '../../sdk/api/messages/prompt-content.js';
import { streamJsonLine } from '../../sdk/api/messages/stream-json-line.js';
import type { HostSession } from '../../sdk/assembly/open-host-session.js';
import type { Provider } from '../../sdk/assembly/options/provider.js';
import { untilIdle, untilSettled } from '../../sdk/control/until-idle.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { ExitCode, exitCodeFor } from '../session/exit-code.js';
import { openCliSession } from '../session/open-cli-session.js';
import type { RunFlags } from '../session/run-flags.js';
import { BatchedOutput } from './batched-output.js';
import { ControlProtocol } from './control-protocol.js';
import { readPrompt } from './read-prompt.js';
import { RunPrinter } from './run-printer.js';

/** Resolves with the exit code. Rejects with UsageError. */
export const printMode = async (
  input: string | undefined,
  flags: RunFlags,
  host: TerminalHost,
  provider?: Provider,
): Promise<number> => {
  checkFormats(flags);
  const lines = new BatchedOutput(host.out);
  let prepared: PreparedRun;
  try {
    prepared = await prepare(input, flags, host, lines, provider);
  } catch (error) {
    if (flags.outputFormat !== 'text') {
      const { refusedRunResult } = await import('../../sdk/api/messages/refused-run-result.js');
      lines.add(JSON.stringify(refusedRunResult(flags.resume ?? flags.sessionId ?? '', error)));
      lines.flush();
    }
    throw error;
  }
  return printRun(prepared, flags, host, lines);
};

interface PreparedRun {
  readonly run: HostSession;
  readonly prompt: string | undefined;
  /** Undefined unless stdin has the format stream-json. */
  readonly control: ControlProtocol | undefined;
}

/** Reads the prompt and opens the session. Rejects with UsageError. */
const prepare = async (
  input: string | undefined,
  flags: RunFlags,
  host: TerminalHost,
  lines: BatchedOutput,
  provider: Provider | undefined,
): Promise<PreparedRun> => {
  const isDriven = flags.inputFormat === 'stream-json';
  const control = isDriven ? new ControlProtocol(lines.add) : undefined;
  const isResumed = flags.resume !== undefined || flags.continue === true;
  const prompt = isDriven ? input : await readPromptOrNone(input, host, isResumed);
  const run = await openCliSession({
    host,
    flags,
    surfaces: control === undefined ? {} : { 'stream-json': control },
    staysIdle: isDriven,
    title: promptTitle(prompt ?? ''),
    wantsStreamEvents: flags.includePartialMessages === true,
    ...(provider && { provider }),
  });
  return { run, prompt, control };
};

const printRun = async (
  { run, prompt, control }: PreparedRun,
  flags: RunFlags,
  host: TerminalHost,
  lines: BatchedOutput,
): Promise<number> => {
  const { session } = run;
  const earlierAnswer = prompt === undefined ? lastAnswer(session.journal.history.messages) : '';
  const hasWorkers = run.store.jobs.local === undefined;
  const line = lines.add;
  const printer = new RunPrinter({ session, flags, host, line, earlierAnswer, hasWorkers });
  for (const notice of run.notices) printer.note(notice);
  const printRest = (stop: Stop) => {
    printer.close(stop);
    lines.flush();
  };
  const cancelPrintAtExit = host.restoreAtExit(() => printRest(PROCESS_ENDED));
  // With stream-json input a signal ends the process, because the driver interrupts runs by lines.
  const shutdown = new AbortController();
  const stopListening = host.onInterrupt(() => {
    session.interrupt();
    if (control !== undefined) shutdown.abort();
  });
  if (flags.outputFormat === 'stream-json') {
    lines.add(JSON.stringify(initMessage(session, run.facts, randomUUID())));
    for (const text of session.damage) {
      const line = streamJsonLine({ type: 'notice', text }, session.id);
      if (line !== undefined) lines.add(line);
    }
  }
  session.listen((item) => printer.take(item));
  /** Stop of the session, if it stopped before the driver closed stdin. */
  let end: Stop | undefined;
  void session.stopped.then(({ stop }) => {
    end = stop;
  });
  let lastStop: Stop | undefined;
  let failure: Stop | undefined;
  let isShutDown = false;
  try {
    if (prompt !== undefined) session.submit(toWireBlocks(prompt));
    session.start();
    if (control !== undefined) await drive(session, control, host, shutdown.signal);
    else await session.stopped;
    lastStop = end ?? printer.lastStop;
  } catch (error) {
    failure = stops.crashed(error);
    throw error;
  } finally {
    isShutDown = shutdown.signal.aborted;
    await run.close();
    stopListening();
    cancelPrintAtExit();
    printRest(failure ?? end ?? (isShutDown ? stops.INTERRUPTED : stops.ENDED));
  }
  if (isShutDown) return ExitCode.interrupted;
  return lastStop === undefined ? ExitCode.done : exitCodeFor(lastStop.reason);
};

const PROCESS_ENDED: Stop = {
  reason: 'interrupted',
  detail: 'The process ended before the run did.',
};

const checkFormats = ({ inputFormat, outputFormat, includePartialMessages }: RunFlags): void => {
  if (inputFormat === 'stream-json' && outputFormat !== 'stream-json') {
    throw new UsageError('--input-format stream-json needs --output-format stream-json.');
  }
  if (includePartialMessages && outputFormat !== 'stream-json') {
    throw new UsageError('--include-partial-messages needs --output-format stream-json.');
  }
};

/** Returns undefined if there is no prompt and the session is resumed, because a prompt is optional then. */
const readPromptOrNone = async (
  input: string | undefined,
  host: TerminalHost,
  isResumed: boolean,
): Promise<string | undefined> => {
  try {
    return await readPrompt(input, host);
  } catch (error) {
    if (isResumed && error instanceof UsageError) return undefined;
    throw error;
  }
};

/**
 * Serves the driver until the session stops, or until stdin has closed, the lead is idle and no background agent
 * works. A shutdown does not wait for background agents.
 */
const drive = async (
  session: LeadSession,
  control: ControlProtocol,
  host: TerminalHost,
  shutdown: AbortSignal,
): Promise<void> => {
  const handlers = {
    prompt: (blocks: RawJson) => session.submit(blocks),
    interrupt: () => session.interrupt(),
    notify: host.notify,
  };
  const reading = control.read(host.stdin, handlers, shutdown);
  const isSettled = reading.then(() => untilSettled(session));
  const isShutDown = aborted(shutdown).then(() => untilIdle(session));
  await Promise.race([session.stopped, isSettled, isShutDown]);
  // An open pipe would keep the process alive.
  host.stdin.destroy();
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
