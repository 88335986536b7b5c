/** Preload for the launcher: prints `accepted` if V8 accepts the compiled code that the launcher hands over. */
const vm = require('node:vm');

vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options);
    if (options?.cachedData !== undefined && this.cachedDataRejected === false)
      console.error('accepted');
  }
};
