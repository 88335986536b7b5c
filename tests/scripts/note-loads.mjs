/**
 * Preload for a program under test: appends the address of each module that it loads to the file that
 * SKEIN_TEST_LOADS names, and a line `request` when it sends its first HTTP request. Runs a second time in
 * the thread of Node's module hooks, where `load` is called.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const REQUEST = 'http.client.request.start';
const note = (line) => appendFileSync(process.env.SKEIN_TEST_LOADS, `${line}\n`);

export const load = (url, context, next) => {
  note(url);
  return next(url, context);
};

const noteRequest = () => {
  unsubscribe(REQUEST, noteRequest);
  note('request');
};

if (isMainThread) {
  register(import.meta.url);
  subscribe(REQUEST, noteRequest);
}
