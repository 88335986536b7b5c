/**
 * Makes the prompt that a new session would start with, with the same code as a run. Needs no
 * API key, makes no session and writes no file.
 */
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import type { Preamble } from '../../protocol/model/context-provider.js';
import type { PromptHead } from '../../protocol/model/prompt-head.js';
import { type Capabilities, capabilitiesOf } from '../../protocol/model/providers.js';
import type { Surface } from '../../protocol/permission/permission-question.js';
import { openAndAssemble } from '../assembly/assemble-session.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import type { RunOptions } from '../assembly/options/run-options.js';

export interface DryRunPrompt {
  readonly cwd: string;
  readonly model: string;
  readonly settings: LoadedSettings;
  readonly head: PromptHead;
  readonly preamble: Preamble;
  readonly capabilities: Capabilities;
  /** Sentences to show to the person. */
  readonly notices: readonly string[];
}

/** `isOneShot` is true for a run that stops after its answer and asks no questions. Rejects with UsageError. */
export const dryRunPrompt = async (
  host: HostEnvironment,
  runOptions: RunOptions,
  isOneShot: boolean,
): Promise<DryRunPrompt> => {
  const { resume: _resume, continue: _continue, forkSession: _fork, ...flags } = runOptions;
  const notices: string[] = [];
  const { settings, options, release, ...assembly } = await openAndAssemble({
    host: { ...host, notify: (sentence) => notices.push(sentence) },
    flags: { ...flags, sessionPersistence: false },
    surfaces: isOneShot ? {} : { nobody: UNUSED_SURFACE },
    provider: UNUSED_PROVIDER,
    title: '',
    staysIdle: !isOneShot,
    wantsStreamEvents: false,
  });
  try {
    const { contextProvider, fresh, modelName, defaultModel } = options;
    const { cwd, version, entrypoint } = fresh;
    const model = modelName ?? defaultModel;
    const head = await contextProvider.head({ cwd, model, version, entrypoint });
    const preamble = await contextProvider.preamble();
    const { capabilities = capabilitiesOf('firstParty') } = options;
    const told = [...assembly.notices, ...notices];
    return { cwd, model, settings, head, preamble, capabilities, notices: told };
  } finally {
    release();
  }
};

/** Stands for the provider. No request is sent. */
const UNUSED_PROVIDER = { apiKey: 'none', authToken: undefined, baseUrl: undefined };

/** Stands for the person's terminal. No question is asked. */
const UNUSED_SURFACE: Surface = {
  ask: () => Promise.reject(new Error('A dry run cannot ask questions.')),
};
