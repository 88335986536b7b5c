/**
 * Preload for a program under test: writes the names of the functions that ran, the files that were required and the modules
 * of Node to the file SKEIN_TEST_MODULES at the first HTTP request. The bundler names the function that evaluates a module
 * after the module.
 */
const { subscribe, unsubscribe } = require('node:diagnostics_channel');
const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');

const REQUEST = 'http.client.request.start';
const file = process.env.SKEIN_TEST_MODULES;
const session = new Session();

const note = () => {
  unsubscribe(REQUEST, note);
  session.post('Profiler.takePreciseCoverage', (error, { result } = { result: [] }) => {
    if (error !== null) throw error;
    const ran = result
      .filter(({ url }) => url.endsWith('program.cjs'))
      .flatMap(({ functions }) => functions)
      .filter(({ ranges }) => ranges[0].count > 0)
      .map(({ functionName }) => functionName);
    writeFileSync(
      file,
      JSON.stringify({ ran, required: Object.keys(require.cache), node: process.moduleLoadList }),
    );
  });
};

session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
subscribe(REQUEST, note);
