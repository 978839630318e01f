import { Suspense } from 'react'
import { lazyPage, lazyPart } from '../components/lazy-part.tsx'
import { portal } from '../portal/config.ts'
import { givenToken } from '../portal/reference/given-token.ts'
import { useStore } from '../session/store.ts'
import type { PageBase } from '../shell/page-router.tsx'
import { docsTexts as texts } from './docs-texts.ts'

const TokenForm = lazyPart(() => import('../portal/reference/token-form.tsx'), 'TokenForm')

/** Shows a page, or asks for a token if the reference is private. */
export function gate(page: PageBase) {
  const Page = lazyPage(page.load)
  Gated.preload = Page.preload
  return Gated
  function Gated() {
    const token = useStore(givenToken)
    return portal.docs === 'private' && token === undefined ? <TokenFirst /> : <Page />
  }
}

function TokenFirst() {
  return (
    <div className="empty docs-private">
      <h1>{texts.private}</h1>
      <p className="soft">{texts.privateText}</p>
      <Suspense>
        <TokenForm submit={texts.show} />
      </Suspense>
    </div>
  )
}
