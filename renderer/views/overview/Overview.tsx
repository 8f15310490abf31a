/** The first screen: is it on, how it is reached, what it did. */
import { Screen } from '../../components/Screen.tsx';
import { StatusSection } from './StatusSection.tsx';

export function Overview() {
  return (
    <Screen name="overview">
      <StatusSection />
    </Screen>
  );
}
