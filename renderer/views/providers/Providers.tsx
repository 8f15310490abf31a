/** Where requests can go: every provider with how it does, and what is set of one. */
import { useRoute } from 'wouter';
import { ProviderDetail } from './ProviderDetail.tsx';
import { ProviderList } from './ProviderList.tsx';

export function Providers() {
  const [isOne, parameters] = useRoute<{ id: string }>('/providers/:id');
  return isOne ? <ProviderDetail key={parameters.id} id={parameters.id} /> : <ProviderList />;
}
