/**
 * `node build/release/check-image.ts IMAGE`: checks that a container image that Docker has loaded is labelled, does not run
 * as root, and answers a chat from a read-only root file system without any privilege. With `--published` instead that the
 * image in a registry is for both processors, each with its bill of materials and provenance.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';

const platforms = ['linux/amd64', 'linux/arm64'];
const label = (name: string) => `org.opencontainers.image.${name}`;
const labels = ['title', 'description', 'licenses', 'source', 'version', 'revision'].map(label);
const patienceMs = 30_000;

const configSchema = z.looseObject({
  User: z.string(),
  Labels: z.record(z.string(), z.string()).nullable(),
  Healthcheck: z.looseObject({ Test: z.array(z.string()) }).optional(),
});
const readySchema = z.looseObject({ event: z.literal('ready'), key: z.string() });

function docker(...parameters: string[]): string {
  return execFileSync('docker', parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

async function checkLoaded(image: string): Promise<string[]> {
  const config = configSchema.parse(JSON.parse(docker('image', 'inspect', image, '--format', '{{json .Config}}')));
  const [user = ''] = config.User.split(':');
  const missing = labels.filter((name) => !config.Labels?.[name]);
  const problems = [
    ...(['', '0', 'root'].includes(user) ? ['The image runs as root.'] : []),
    ...missing.map((name) => `The image has no label ${name}.`),
    ...(config.Healthcheck ? [] : ['The image has no health check.']),
  ];
  return problems.length > 0 ? problems : await problemsOfRunning(image);
}

async function problemsOfRunning(image: string): Promise<string[]> {
  const closed = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
  const serve = ['serve', '--host', '0.0.0.0', '--json'];
  const id = docker('run', '--detach', ...closed, '--publish', '127.0.0.1::4810', image, ...serve);
  try {
    const key = await keyOf(id);
    const [address = ''] = docker('port', id, '4810').split('\n');
    const response = await fetch(`http://${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    return response.ok ? [] : [`A chat is answered with ${response.status}.`];
  } finally {
    docker('rm', '--force', id);
  }
}

/** The first key, from the line that `serve --json` prints when it is ready. */
async function keyOf(id: string): Promise<string> {
  const deadlineMs = Date.now() + patienceMs;
  while (Date.now() < deadlineMs) {
    const line = docker('logs', id)
      .split('\n')
      .find((each) => each.startsWith('{"event":"ready"'));
    if (line !== undefined) return readySchema.parse(JSON.parse(line)).key;
    await wait(200);
  }
  throw new Error(`The image is not ready after ${patienceMs / 1000} s.`);
}

/** BuildKit attaches both to the image of each platform, and shows them by platform. */
function checkPublished(image: string): string[] {
  const inspect = (field: string): unknown =>
    JSON.parse(docker('buildx', 'imagetools', 'inspect', image, '--format', `{{json ${field}}}`));
  const attached = { 'bill of materials': inspect('.SBOM'), provenance: inspect('.Provenance') };
  return Object.entries(attached).flatMap(([name, found]) => {
    const known = z.record(z.string(), z.looseObject({})).parse(found);
    return platforms.filter((each) => !(each in known)).map((each) => `The image for ${each} has no ${name}.`);
  });
}

const { values, positionals } = parseArgs({ options: { published: { type: 'boolean' } }, allowPositionals: true });
const [image = ''] = positionals;
const problems = values.published ? checkPublished(image) : await checkLoaded(image);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
