import { openaiApi } from '../../server/apis/openai/routes.ts';
import { Registry, type RouteMatch } from '../../server/apis/registry.ts';

const registry = new Registry([openaiApi]);

/** OpenAI's route for a path below `/v1`. */
export function findRoute(method: string, path: string): RouteMatch {
  return registry.find(method, registry.locate(`/v1${path}`));
}
