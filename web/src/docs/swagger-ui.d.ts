/** The parts of Swagger UI's bundle that the reference uses; the bundle has no types. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  export type ReferenceRequest = { headers: Record<string, string> };
  const SwaggerUI: (options: {
    dom_id: string;
    url: string;
    requestInterceptor: (request: ReferenceRequest) => ReferenceRequest;
    [option: string]: unknown;
  }) => void;
  export default SwaggerUI;
}
