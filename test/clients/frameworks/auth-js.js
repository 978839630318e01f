export { Auth, customFetch } from '@auth/core'
