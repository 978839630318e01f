import { messageOf } from '../../src/kit/index.ts'
import { errors } from './errors.ts'

export interface OpenInspector {
  /** Where a debugger attaches. */
  readonly url: string
  close(): void
}

/** Lets a debugger of this machine attach to this process. @throws WP_CLI_INSPECT */
export async function openInspector(port: number): Promise<OpenInspector> {
  const inspector = await import('node:inspector')
  const before = inspector.url() // by NODE_OPTIONS
  if (before !== undefined) return { url: before, close: () => undefined }
  try {
    inspector.open(port, '127.0.0.1')
  } catch (cause) {
    throw errors.WP_CLI_INSPECT({ port, reason: messageOf(cause) }, { cause })
  }
  const url = inspector.url()
  if (url === undefined) throw errors.WP_CLI_INSPECT({ port, reason: 'something listens there already' })
  return { url, close: () => inspector.close() }
}
