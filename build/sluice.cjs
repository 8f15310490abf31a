#!/usr/bin/env node
/**
 * The command `sluice` of the npm package, which the build puts beside the bundle. It starts the bundle if this Node is
 * one of `engines` in package.json, and otherwise says in one sentence what to install. Node 10 must be able to read
 * it: no syntax or module of Node's that is newer, except where an older one is caught.
 */
const { engines } = require('./package.json');

if (isInRange(process.versions.node, engines.node)) import('./cli.js');
else if (!runOnNodeOfCheckout()) {
  process.stderr.write(
    `sluice: Sluice needs Node ${describe(engines.node)}; this is Node ${process.versions.node}: install a newer one, for example from https://nodejs.org.\n`,
  );
  process.exitCode = 1;
}

/** Understands the ranges that package.json uses: `^22.1.0 || >=24.2.0`. */
function isInRange(version, range) {
  const have = numbersOf(version);
  return range.split('||').some((part) => {
    const wanted = numbersOf(part);
    const first = [0, 1, 2].find((place) => have[place] !== wanted[place]);
    const isOlder = first !== undefined && have[first] < wanted[first];
    return !isOlder && (have[0] === wanted[0] || part.includes('>='));
  });
}

/** `22.1.0 or a later 22, or 24.2.0 or newer`. */
function describe(range) {
  const parts = range.split('||').map((part) => {
    const numbers = numbersOf(part);
    return `${numbers.join('.')} or ${part.includes('>=') ? 'newer' : `a later ${numbers[0]}`}`;
  });
  return parts.join(', or ');
}

function numbersOf(text) {
  return /(\d+)\.(\d+)\.(\d+)/.exec(text).slice(1).map(Number);
}

/**
 * In a checkout, `npm ci` has brought a Node that runs Sluice. Passes arguments, streams and signals on to it. Returns
 * false if there is none.
 */
function runOnNodeOfCheckout() {
  try {
    const node = require.resolve(`../../node_modules/node/bin/node${process.platform === 'win32' ? '.exe' : ''}`);
    const { spawn } = require('node:child_process');
    const child = spawn(node, [__filename].concat(process.argv.slice(2)), { stdio: 'inherit' });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('exit', (code) => process.exit(code === null ? 1 : code));
    return true;
  } catch {
    return false;
  }
}
