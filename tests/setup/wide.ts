/** True in `npm run test:soak`, which tries more kills, seeds and questions than `npm test`. */
export const IS_WIDE = process.env.SKEIN_TEST_WIDE !== undefined;
