import { backendClientId } from '../../src/auth/index.ts'
import { openBackendWorld, openSignedIn } from './backend-world.ts'
import { attackFiles, testHazards } from './hazards.ts'

testHazards({
  name: 'the backend',
  root: '/backend/ui',
  clientId: backendClientId,
  title: /Overview/,
  anyTitle: /Overview|Waypost/,
  openWorld: () => openBackendWorld({ files: attackFiles }),
  openSignedIn,
})
