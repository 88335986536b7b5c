/** Gives each test file an empty home of its own, because earlier files in the same process may have changed it. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

const run = inject('runDirectory');
const home = mkdtempSync(join(run, 'home-'));
process.env.HOME = home;
process.env.SKEIN_HOME = join(home, '.skein');
process.env.TMPDIR = run;
