import { Screen } from '../../components/Screen.tsx';
import { ProvidersSection } from './ProvidersSection.tsx';

/** Where requests can go. */
export function Providers() {
  return (
    <Screen name="providers">
      <ProvidersSection />
    </Screen>
  );
}
