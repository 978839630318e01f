import { showApp } from '../shell/app.tsx'
import { makePageRouter } from '../shell/page-router.tsx'
import { gate } from './gate.tsx'
import { pages } from './pages.ts'
import { DocsShell } from './shell.tsx'

/** Shows the API reference without the rest of the portal and without accounts. */
export function showDocs(element: Element): void {
  showApp(element, () => makePageRouter(DocsShell, pages, gate))
}
