export { default as jwt } from '@fastify/jwt'
