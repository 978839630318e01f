import { portalClientId } from '../../src/auth/index.ts'
import { attackFiles, testHazards } from './hazards.ts'
import { openPortal, openPortalWorld, root } from './portal-world.ts'

testHazards({
  name: 'the portal',
  root,
  clientId: portalClientId,
  title: /Corner Shop/,
  anyTitle: /Corner Shop|Developer portal/,
  openWorld() {
    const config = 'config: { portal: true, registration: true, title: Corner Shop }\n'
    const files = { ...attackFiles, 'waypost.yml': attackFiles['waypost.yml'] + config }
    return openPortalWorld({ files, variables: { WAYPOST_BACKEND: 'off' } })
  },
  openSignedIn: openPortal,
})
