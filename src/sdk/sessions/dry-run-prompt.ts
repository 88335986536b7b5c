/**
 * What a new session would begin with, put together by the very code of a run. No key is needed, no
 * session is made, and nothing is written.
 */
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import type { Preamble } from '../../protocol/model/context-provider.js';
import type { PromptHead } from '../../protocol/model/prompt.js';
import type { Surface } from '../../protocol/permission/permission.js';
import { openAndAssemble } from '../assembly/assemble-session.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import type { RunOptions } from '../assembly/options/run-options.js';

export interface Beginning {
  readonly cwd: string;
  readonly model: string;
  readonly settings: LoadedSettings;
  readonly head: PromptHead;
  readonly opening: Preamble;
  /** Sentences for people. */
  readonly notices: readonly string[];
}

/** `isOneShot` is a run that ends with its answer and asks nobody. Throws a UsageError. */
export const beginningOf = async (
  machine: HostEnvironment,
  given: RunOptions,
  isOneShot: boolean,
): Promise<Beginning> => {
  const { resume: _resume, continue: _goesOn, forkSession: _fork, ...flags } = given;
  const notices: string[] = [];
  const { settings, options, release, ...bench } = await openAndAssemble({
    machine: { ...machine, notify: (sentence) => notices.push(sentence) },
    flags: { ...flags, sessionPersistence: false },
    surfaces: isOneShot ? {} : { nobody: NOBODY },
    provider: NOWHERE,
    title: '',
    lingers: !isOneShot,
    wantsStreamEvents: false,
  });
  try {
    const { briefing, fresh, modelName, defaultModel } = options;
    const { cwd, version, entrypoint } = fresh;
    const model = modelName ?? defaultModel;
    const head = await briefing.head({ cwd, model, version, entrypoint });
    const opening = await briefing.opening();
    return { cwd, model, settings, head, opening, notices: [...bench.notices, ...notices] };
  } finally {
    release();
  }
};

/** Nothing is sent, so it does not matter where to. */
const NOWHERE = { apiKey: 'none', authToken: undefined, baseUrl: undefined };

/** Stands for a person, who is never asked. */
const NOBODY: Surface = {
  ask: () => Promise.reject(new Error('Nobody is there to ask.')),
};
