/** Before each test file: an empty home of its own, so that files can run side by side. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

const home = mkdtempSync(join(inject('runDirectory'), 'home-'));
process.env.HOME = home;
process.env.SKEIN_HOME = join(home, '.skein');
