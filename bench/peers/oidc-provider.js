export { default as Provider } from 'oidc-provider'
