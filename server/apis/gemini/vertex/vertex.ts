import type { Dialect } from '../../core/dialects/dialect.ts';
import { googleSigning, plainCredential } from './credential.ts';
import { vertexModelPages } from './model-pages.ts';
import { modelOnVertex } from './models.ts';

/**
 * Vertex AI (Google Cloud). Base URLs contain project and location:
 * `https://us-east5-aiplatform.googleapis.com/v1/projects/PROJECT/locations/us-east5`. For the location `global`, the
 * host is `aiplatform.googleapis.com`. A credential is the JSON file of a service account, `application-default`, or an
 * API key. Source: Google Cloud, "Vertex AI REST API".
 */
export const vertexDialect: Dialect = {
  id: 'vertex',
  // The envelope puts it in, percent-encoded.
  putsModelInPath: false,
  address: ({ basePath }, path, query) => basePath + path + query,
  serves: () => false,
  conversationWire: 'gemini-generate',
  embeddingsWire: null,
  defaultHeaders: {},
  bindsReasoning: true,
  modelPages: vertexModelPages,
  hasUnlistedModels: true,
  authorize: plainCredential,
  signing: googleSigning,
  hosted: modelOnVertex,
};
