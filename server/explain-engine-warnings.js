/**
 * Runs after `npm install` in a clone, with npm's user agent as its argument. npm checks packages against the Node that runs npm, and prints EBADENGINE warnings if that
 * one is too old. The npm scripts use the Node that the package `node` installs, so the warnings do not matter here.
 */

import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const [needed, found] = [engines.node, process.argv[2]].map((text) =>
  /(\d+)\.(\d+)/
    .exec(text?.replace(/^.*\bnode\/v/, '') ?? '')
    ?.slice(1)
    .map(Number),
);
if (found && (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1]))) {
  console.log(
    `You can ignore the EBADENGINE warnings above: npm runs on Node ${found.join('.')}, but npm start, npm test and npm run use the Node ${process.versions.node} in node_modules.`,
  );
}
