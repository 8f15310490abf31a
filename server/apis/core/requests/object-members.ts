/**
 * Members of requests by which the APIs of OpenAI, Anthropic and Google name objects that a provider stores, wherever they stand
 * in a body, a form or a query. Sources: the references of the three APIs. A name may be that of something else in another
 * place, which does no harm: Sluice looks for ids that it knows.
 */
import { idsIn } from '../../json/id-search.ts';
import { MemberMeanings } from '../../json/watched-members.ts';

const ids = [
  // OpenAI
  ...['file_id', 'file_ids', 'input_file_id', 'training_file', 'validation_file', 'part_ids', 'vector_store_id'],
  ...['vector_store_ids', 'container', 'container_id', 'skill_id', 'assistant_id', 'eval_id', 'run_id', 'video'],
  ...['conversation', 'consent', 'agent', 'chatkit_thread_id'],
  // Anthropic, beside files, containers, skills and agents
  ...['agent_id', 'environment_id', 'vault_id', 'vault_ids', 'memory_store_id', 'session_id', 'session_thread_id'],
  ...['deployment_id', 'user_profile_id', 'credential_id'],
  // Google, by resource names such as `files/abc`
  ...['file_name', 'filename', 'cached_content', 'cachedcontent', 'previous_interaction_id', 'previousinteractionid'],
  ...['file_search_store_names', 'filesearchstorenames', 'document_name', 'documentname'],
];

/** A file of Google's is also named by its address; a translation makes one out of any client's. */
const addresses = [
  ...['file_uri', 'fileuri', 'uri', 'url', 'image_url', 'file_url', 'document_url', 'video_url', 'audio_url'],
  ...['thumbnail_url', 'input_image', 'input_file'],
];

/** Whose object's `id` is meant: `{"voice": {"id": "voice_1"}}`. */
const holders = ['conversation', 'container', 'video', 'prompt', 'voice', 'characters', 'workflow', 'agent'];
/** The `source` of an evaluation's run. Elsewhere, images have one, and none of them has an `id`. */
const passedHolder = 'source';
/** On routes that Sluice serves itself, this decides whose a request is. */
const plannedId = 'previous_response_id';

export const objectMembers = new MemberMeanings({
  ids: [...ids, plannedId],
  addresses,
  holders: [...holders, passedHolder],
});
/** Of the routes that Sluice serves itself: bodies without any of them are not searched. */
export const servedObjectMembers = new MemberMeanings({ ids, addresses, holders });

/** The ids in the parameters of a query, without its question mark, or of a form like that. */
export function idsInParameters(text: string): readonly string[] {
  return [...new URLSearchParams(text)].flatMap(([name, value]) => idsIn(value, objectMembers.ofParameter(name)));
}
