import { call } from '../api/call.ts'
import { saveFile } from '../components/save-file.ts'
import { config } from '../config.ts'
import { makeZip } from './make-zip.ts'

/** Downloads the definition files of the draft, or those of the active release, as one file. */
export async function downloadFiles(of: 'draft' | 'active'): Promise<void> {
  const { entry } = await call('GET /draft/files', { query: { of } })
  const zip = makeZip(entry.map(({ file, text }) => [file, text]))
  const name = `${config.service.replaceAll(/[^\w.-]+/g, '-').toLowerCase() || 'api'}-${of === 'draft' ? 'draft' : 'published'}.zip`
  saveFile(new Blob([zip], { type: 'application/zip' }), name)
}
