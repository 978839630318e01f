import { useMutation } from '@tanstack/react-query'
import { CopyButton } from '../../components/copy.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { issuer } from '../../config.ts'
import { portal } from '../config.ts'
import { loadDocument } from './load.ts'
import { referenceTexts as texts } from './reference-texts.ts'

const url = `${issuer}/openapi.json`

/** A link to the OpenAPI document; if it is private, a button that downloads it with the token. */
export function DocumentLink() {
  const saving = useMutation({ mutationFn: saveDocument })
  return (
    <>
      <span translate="no" className="copy mono">
        {portal.docs === 'public' ? (
          <a href={url} className="copy-text">
            {url}
          </a>
        ) : (
          <button type="button" className="text-button copy-text" onClick={() => saving.mutate()}>
            {texts.download}
          </button>
        )}
        <CopyButton value={url} label={texts.document} />
      </span>
      {saving.isError ? <ProblemAlert error={saving.error} /> : null}
    </>
  )
}

async function saveDocument(): Promise<void> {
  const response = await loadDocument()
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = 'openapi.json'
  link.click()
  URL.revokeObjectURL(link.href)
}
