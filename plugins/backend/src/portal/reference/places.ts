import { config } from '../../config.ts'

/** Whether these pages are the API reference at `/docs`, without the rest of the portal and without accounts. */
export const isAlone = config.redirectPath === '/docs/signed-in'

/** The paths of the pages. */
export const places = isAlone
  ? { list: '/', operation: '/operation/$operation' }
  : { list: '/reference', operation: '/reference/$operation' }
