export { betterAuth } from 'better-auth'
export { genericOAuth } from 'better-auth/plugins'
