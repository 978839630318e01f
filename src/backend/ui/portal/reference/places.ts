import { config, uiPath } from '../../config.ts'

/** Whether these pages are the API reference at `/docs`, without the rest of the portal and without accounts. */
export const isAlone = config.redirectPath === '/docs/signed-in'

/** The paths of the pages. */
export const places = isAlone
  ? { list: '/', operation: '/operation/$operation' }
  : { list: '/reference', operation: '/reference/$operation' }

/** Returns the address of the page of an operation. */
export function addressOf(id: string): string {
  return `${uiPath}${places.operation.replace('$operation', encodeURIComponent(id))}`
}
