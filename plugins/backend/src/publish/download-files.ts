import { call } from '../api/call.ts'
import { config } from '../config.ts'
import { makeZip } from './make-zip.ts'

/** Downloads the definition files of the draft, or those of the active release, as one file. */
export async function downloadFiles(of: 'draft' | 'active'): Promise<void> {
  const { entry } = await call('GET /draft/files', { query: { of } })
  const zip = makeZip(entry.map(({ file, text }) => [file, text]))
  const url = URL.createObjectURL(new Blob([zip], { type: 'application/zip' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${config.service.replaceAll(/[^\w.-]+/g, '-').toLowerCase() || 'api'}-${of === 'draft' ? 'draft' : 'published'}.zip`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
