/** The models that the keys of each group may use, and how their requests are routed. */
import { useRoute } from 'wouter';
import { GroupDetail } from './GroupDetail.tsx';
import { GroupList } from './GroupList.tsx';

export function Groups() {
  const [isOne, parameters] = useRoute<{ id: string }>('/groups/:id');
  return isOne ? <GroupDetail key={parameters.id} id={parameters.id} /> : <GroupList />;
}
