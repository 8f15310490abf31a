/** The list of providers with their health, or the settings of one. */
import { useRoute } from 'wouter';
import { ProviderDetail } from './ProviderDetail.tsx';
import { ProviderList } from './ProviderList.tsx';

export function Providers() {
  const [isOne, parameters] = useRoute<{ id: string }>('/providers/:id');
  return isOne ? <ProviderDetail key={parameters.id} id={parameters.id} /> : <ProviderList />;
}
