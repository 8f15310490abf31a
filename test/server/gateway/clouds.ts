/** A gateway with scripted Bedrock and Vertex AI providers. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { mainProvider, startGateway } from '../../support/gateway.ts';
import { bedrockKey } from '../../support/strict-bedrock.ts';
import { startUpstream } from '../../support/upstream.ts';

/** Base path of the Vertex AI provider. */
export const base = '/v1/projects/p1/locations/us-east5';

interface CloudModels {
  aws: string[];
  vertex: string[];
}

/** Starts one for all tests of a file. The recorded requests are cleared before each test. Registers the hooks. */
export function cloudsInSuite(models: CloudModels, more?: Partial<ConfigInput>): Omit<Clouds, 'stop'> {
  let clouds: Clouds;
  beforeAll(async () => {
    clouds = await startClouds(models, more);
  });
  afterAll(() => clouds.stop());
  beforeEach(() => {
    for (const { seen } of [clouds.aws, clouds.vertex]) seen.length = 0;
  });
  return {
    get aws() {
      return clouds.aws;
    },
    get vertex() {
      return clouds.vertex;
    },
    get gateway() {
      return clouds.gateway;
    },
    get client() {
      return clouds.client;
    },
  };
}

type Clouds = Awaited<ReturnType<typeof startClouds>>;

async function startClouds(models: CloudModels, more: Partial<ConfigInput> = {}) {
  const [aws, vertex] = await Promise.all([startUpstream(), startUpstream()]);
  const gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [
        mainProvider(aws.origin, { dialect: 'bedrock', models: models.aws }),
        mainProvider(vertex.origin + base, { id: 'vertex', dialect: 'vertex', models: models.vertex }),
      ],
      ...more,
    },
    secrets: { 'provider/main/c1': bedrockKey, 'provider/vertex/c1': 'ya29.test' },
  });
  const stop = async () => {
    await gateway.stop();
    await aws.stop();
    await vertex.stop();
  };
  return { aws, vertex, gateway, client: gateway.client, stop };
}
