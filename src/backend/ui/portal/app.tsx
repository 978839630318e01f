import { showApp } from '../shell/app.tsx'
import { makePageRouter } from '../shell/page-router.tsx'
import { gate } from './gate.tsx'
import { pages } from './pages.ts'
import { PortalShell } from './shell.tsx'

export function showPortal(element: Element): void {
  showApp(element, () => makePageRouter(PortalShell, pages, gate))
}
