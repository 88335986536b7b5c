/** File search of this machine, with ripgrep if it is found. Looks for ripgrep on first use. */
import type { FileSearch } from '../../protocol/tools/file-search.js';
import { fileSearch } from './file-search.js';
import { javascriptEngine } from './javascript-engine.js';
import { findRipgrep } from './ripgrep.js';
import { ripgrepEngine } from './ripgrep-engine.js';

/** `environment` is the environment of ripgrep, without secrets. `choice` may name a ripgrep or turn it off. */
export const hostSearch = (
  environment: Readonly<Record<string, string>>,
  choice: Readonly<Record<string, string | undefined>>,
): FileSearch =>
  fileSearch({
    async engine() {
      const ripgrep = await findRipgrep({ ...choice, PATH: environment.PATH });
      return ripgrep === undefined ? javascriptEngine() : ripgrepEngine(ripgrep.path, environment);
    },
  });
